from singletable import DynamoDBStore

store = DynamoDBStore("agents", region="eu-central-1")
