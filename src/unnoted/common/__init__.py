"""What every room uses: located errors, atomic files, lookup by name, locks."""
