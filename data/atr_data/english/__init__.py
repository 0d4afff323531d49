"""English word knowledge: small words, stems, and what words stand for, in one dictionary."""
