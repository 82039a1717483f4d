"""The command line: words in, one call, words out."""
