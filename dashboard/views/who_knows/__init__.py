"""Who knows what: facts by characters, then and now, and the tests of the story."""
