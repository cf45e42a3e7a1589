# Generated from ../_async/evaluations.py by scripts/generate_sync.py; edit that file.
"""Evaluations: what metrics said of the answers of agents."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from singletable.schemas import Evaluation

from ..._sync.query import Query
from ...errors import RequestError
from ...page import Page
from ...values import Range
from ..stamps import milliseconds, stamped
from .domain import Domain, require
from .filtering import having
from .paging import paged
from .replacing import replaced


class Evaluations(Domain):
    """Evaluations of an agent, a run or a resource."""

    def save_evaluation(self, evaluation: Evaluation) -> Evaluation:
        """Store an evaluation, whole, over one with the same id; it comes back as it is stored.

        A `created_at` that is not given is that of the evaluation that is replaced, or now.  One request for a new
        evaluation, two for one that is there; a write unit for each KB, and one for each of two to four indexes.
        Raises ItemTooLargeError before anything is sent."""
        require(evaluation, Evaluation)

        def renew(stored: Evaluation | None) -> Evaluation:
            return stamped(evaluation, created_at=stored.created_at if stored else milliseconds(self.clock()))

        return replaced(self.table, Evaluation.Key(id=evaluation.id), renew, stamp="created_at")

    def get_evaluation_by_id(self, evaluation_id: str) -> Evaluation | None:
        """The evaluation, or None.  One strongly consistent read."""
        return self.table.get(Evaluation.Key(id=evaluation_id))

    def list_evaluations(
        self,
        *,
        agent_name: str | None = None,
        run_id: str | None = None,
        resource_id: str | None = None,
        metric_name: str | None = None,
        created_at: Range[datetime] | None = None,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[Evaluation]:
        """The evaluations of an agent, a run or a resource, newest first; the id decides between equal times.

        Needs one of `agent_name`, `run_id` and `resource_id`, and raises RequestError otherwise.  Read from an index,
        which may lag behind a write by moments.  An agent's evaluations have an index by their metric as well; for a
        run or a resource `metric_name` is a filter, under which DynamoDB reads, and bills, the others too."""
        query = self._owned(agent_name, run_id, resource_id, metric_name, created_at).reverse()
        return paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    def delete_evaluations(self, evaluation_ids: Iterable[str]) -> None:
        """Delete evaluations by their ids; those that are not there are fine.

        25 a request, not as one: raises PartialBatchError with the keys that are not deleted."""
        if isinstance(evaluation_ids, str):
            raise RequestError("this takes several ids: put the one into a list")
        self.table.delete_many(Evaluation.Key(id=evaluation_id) for evaluation_id in evaluation_ids)

    def _owned(
        self,
        agent_name: str | None,
        run_id: str | None,
        resource_id: str | None,
        metric_name: str | None,
        created_at: Range[datetime] | None,
    ) -> Query[Evaluation, Evaluation]:
        match agent_name, run_id, resource_id:
            case str(), None, None:
                if metric_name is None:
                    return self.table.query(Evaluation.ByAgent(agent_name=agent_name, created_at=created_at))
                path = Evaluation.ByMetric(agent_name=agent_name, metric_name=metric_name, created_at=created_at)
                return self.table.query(path)
            case None, str(), None:
                query = self.table.query(Evaluation.ByRun(run_id=run_id, created_at=created_at))
                return having(query, metric_name=metric_name)
            case None, None, str():
                query = self.table.query(Evaluation.ByResource(resource_id=resource_id, created_at=created_at))
                return having(query, metric_name=metric_name)
            case _:
                raise RequestError("give one of agent_name=, run_id= and resource_id=, and it alone, as a text")
