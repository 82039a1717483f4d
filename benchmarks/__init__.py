"""What this costs, as ratios to something measured in the same run. Nothing here is shipped."""
