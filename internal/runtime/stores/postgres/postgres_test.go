package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"deployster/internal/runtime/stores/postgres"
	"deployster/internal/testkit/services"
)

// Those who come first make the table, at one time: each gets its object in, and none of the
// ways in which PostgreSQL tells that another was faster is taken for a failure.
func TestStore_FirstOnesMakeTheTable(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	at := "postgres://deploy@" + services.Postgres(t) + "/state?sslmode=disable"
	c, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	const rounds, clients = 40, 12
	for range rounds {
		if _, err := c.Exec(ctx, "drop table if exists deployster_log"); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() {
				s, err := postgres.New(at, fmt.Sprint(i))
				if err == nil {
					defer func() { _ = s.Close() }()
					err = s.Create(ctx, "first", []byte("x"))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
