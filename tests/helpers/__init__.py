"""What several tests share: second transcriptions, oracles of their own, and ways to compare."""
