# Generated from ../_async/scores.py by scripts/generate_sync.py; edit that file.
"""Scores: what scorers said of runs."""

from __future__ import annotations

from collections.abc import Iterable

from singletable.schemas import Score

from ...errors import RequestError
from ...page import Page
from ..stamps import after, milliseconds, stamped
from .domain import Domain, require
from .filtering import having, require_text
from .paging import paged
from .replacing import replaced


class Scores(Domain):
    """Scores in the verbs of Mastra's scores domain.

    All lists are read from indexes, which may lag behind a write by moments; they are newest first, the id decides
    between equal times, and `cursor` goes on after a page whatever is written meanwhile.  Their filters run in
    DynamoDB, on small entries of the index; a page is full while more follows.  The scores themselves are then read
    from the table: a second request for a page."""

    def save_score(self, score: Score) -> Score:
        """Store a score, whole, over one with the same id; it comes back as it is stored.

        A `created_at` that is not given is that of the score that is replaced, or now; `updated_at` is now, whatever
        is given, and always after the one before.  One request for a new score, two for one that is there; a write
        unit for each KB, and one for each of two to five indexes.  Raises ItemTooLargeError before anything
        is sent."""
        require(score, Score)

        def renew(stored: Score | None) -> Score:
            now = milliseconds(self.clock())
            new = stamped(score, created_at=stored.created_at if stored else now)
            updated_at = after(now, stored.updated_at) if stored else now
            return new.model_copy(update={"updated_at": updated_at})

        return replaced(self.table, Score.Key(id=score.id), renew, stamp="updated_at")

    def get_score_by_id(self, score_id: str) -> Score | None:
        """The score, or None.  One strongly consistent read."""
        return self.table.get(Score.Key(id=score_id))

    def list_scores_by_scorer_id(
        self,
        scorer_id: str,
        *,
        entity_id: str | None = None,
        entity_type: str | None = None,
        source: str | None = None,
        organization_id: str | None = None,
        project_id: str | None = None,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[Score]:
        """The scores of a scorer for which all filters hold, newest first; eventually consistent."""
        query = having(
            self.table.query(Score.ByScorer(scorer_id=scorer_id)).reverse(),
            entity_id=entity_id,
            entity_type=entity_type,
            source=source,
            organization_id=organization_id,
            project_id=project_id,
        )
        return paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    def list_scores_by_run_id(
        self,
        run_id: str,
        *,
        organization_id: str | None = None,
        project_id: str | None = None,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[Score]:
        """The scores of a run for which all filters hold, newest first; eventually consistent."""
        query = self.table.query(Score.ByRun(run_id=run_id))
        query = having(query.reverse(), organization_id=organization_id, project_id=project_id)
        return paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    def list_scores_by_entity_id(
        self,
        *,
        entity_id: str,
        entity_type: str,
        organization_id: str | None = None,
        project_id: str | None = None,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[Score]:
        """The scores of an entity, by its id and its type, for which all filters hold; newest first.

        Eventually consistent."""
        query = self.table.query(Score.ByEntity(entity_type=entity_type, entity_id=entity_id))
        query = having(query.reverse(), organization_id=organization_id, project_id=project_id)
        return paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    def list_scores_by_span(
        self,
        *,
        trace_id: str,
        span_id: str,
        organization_id: str | None = None,
        project_id: str | None = None,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[Score]:
        """The scores of a span for which all filters hold, newest first; eventually consistent."""
        require_text("span_id", span_id)  # without it, the index would give the whole trace
        query = self.table.query(Score.BySpan(trace_id=trace_id, span_id=span_id))
        query = having(query.reverse(), organization_id=organization_id, project_id=project_id)
        return paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    def list_scores_by_resource_id(
        self,
        resource_id: str,
        *,
        organization_id: str | None = None,
        project_id: str | None = None,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[Score]:
        """The scores of a resource for which all filters hold, newest first; eventually consistent."""
        query = self.table.query(Score.ByResource(resource_id=resource_id))
        query = having(query.reverse(), organization_id=organization_id, project_id=project_id)
        return paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    def delete_scores(self, score_ids: Iterable[str]) -> None:
        """Delete scores by their ids; those that are not there are fine.

        25 a request, not as one: raises PartialBatchError with the keys that are not deleted."""
        if isinstance(score_ids, str):
            raise RequestError("this takes several ids: put the one into a list")
        self.table.delete_many(Score.Key(id=score_id) for score_id in score_ids)
