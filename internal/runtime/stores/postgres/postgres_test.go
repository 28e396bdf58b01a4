package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"deployster/internal/base/sharedlog"
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

// What waiting does not mend is a refusal, so that a command ends with it at once: a certificate that is not trusted, a wrong
// password, no database.
func TestStore_RefusesWhatWaitingDoesNotMend(t *testing.T) {
	server := services.SecurePostgres(t)
	root := filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(root, server.Root, 0o600); err != nil {
		t.Fatal(err)
	}
	at := "postgres://" + server.User + "@" + server.Address
	for _, c := range []struct{ url, password, want string }{
		{at + "/state?sslmode=verify-full&sslrootcert=" + root, server.Password, ""},
		{at + "/state?sslmode=verify-full&sslrootcert=" + root, "wrong", "password authentication failed"},
		{at + "/absent?sslmode=verify-full&sslrootcert=" + root, server.Password, `"absent" does not exist`},
		{at + "/state?sslmode=disable", server.Password, "no encryption"},
		{at + "/state?sslmode=verify-full", server.Password, "sslrootcert names the certificate"},
	} {
		t.Setenv("PGPASSWORD", c.password)
		s, err := postgres.New(c.url, "shop")
		if err == nil {
			err = s.Create(t.Context(), "key", nil)
			_ = s.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !(errors.Is(err, sharedlog.ErrDenied) && strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.url, err, c.want)
		}
	}
}
