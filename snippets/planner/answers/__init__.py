"""What people ask of a plan: layouts, how many requests really fit, length, block size, speed, cost, right size."""
