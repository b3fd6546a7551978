# Waits until the database takes connections. A user is named because this container's own one has no name.
until pg_isready --quiet --host=database --username="$DATABASE_USER" --timeout=1; do sleep 0.2; done
