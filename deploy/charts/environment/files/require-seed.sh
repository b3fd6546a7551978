# An empty database must not take the place of one with its seed.
if [ ! -e "$PGDATA/seed" ]; then
  echo "the volume has no database with a seed: make the database anew, and it is loaded" >&2
  exit 1
fi

