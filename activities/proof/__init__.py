"""What a step rests on: signed statements, workers' records, evidence, and the roots that judge them."""
