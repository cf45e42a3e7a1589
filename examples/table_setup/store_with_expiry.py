from singletable import DynamoDBStore

store = DynamoDBStore(
    "agents",
    region="eu-central-1",
    ttl={"message": {"enabled": True, "default_ttl_seconds": 30 * 24 * 3600}},
)
