"""What it is to ask and tell: domains, the optimiser's contract, streams, loop and journal."""
