"""TRANSLATES between the Model Context Protocol and the feature: words in, one call, words out.

The only room that knows the protocol; nothing here decides what a fork, a turn or a note is."""
