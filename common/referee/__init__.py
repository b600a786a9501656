"""What the results say of the papers: claims, statistics, verdicts; fidelity of code to text."""
