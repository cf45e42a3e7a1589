"""How well an agent did: scores of its runs, and evaluations of its answers."""

from singletable import DynamoDBStore
from singletable.schemas import Evaluation, Score
from singletable.testing import MemoryTransport

store = DynamoDBStore("agents", transport=MemoryTransport())

store.scores.save_score(
    Score(
        scorer_id="tone",
        run_id="r1",
        entity_type="AGENT",
        entity_id="guide",
        scorer={"name": "Tone"},
        source="LIVE",
        output={"text": "Yes: mild, and light until ten."},
        score=0.9,
        resource_id="ada",
    )
)
print(store.scores.list_scores_by_scorer_id("tone", source="LIVE").items)
print(store.scores.list_scores_by_entity_id(entity_id="guide", entity_type="AGENT").items)

store.observability.save_evaluation(
    Evaluation(
        agent_name="guide",
        metric_name="faithfulness",
        input="Is Oslo nice in May?",
        output="Yes: mild, and light until ten.",
        result={"score": 0.8, "reason": "no source is named"},
        run_id="r1",
    )
)
print(store.observability.list_evaluations(agent_name="guide", metric_name="faithfulness").items)
