"""The JSON of the API: bodies of requests, shapes of answers, and values turned into them."""
