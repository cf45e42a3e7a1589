from singletable import Credentials, DynamoDBStore

store = DynamoDBStore(
    "agents",
    region="us-east-1",
    endpoint_url="http://127.0.0.1:8000",
    credentials=Credentials("local", "local"),
)
