"""What a monitor does beside watching scores: its loop, and the jobs that keep the deployment in order."""
