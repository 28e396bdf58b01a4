package scale_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/stores"
	"deployster/internal/testkit/services"
	"deployster/state"
)

// counting is a store that counts what is created.
type counting struct {
	sharedlog.Store
	created atomic.Int64
}

func (c *counting) Create(ctx context.Context, key string, data []byte) error {
	c.created.Add(1)
	return c.Store.Create(ctx, key, data)
}

// remoteState is a state in a store behind a URL.
func remoteState(tb testing.TB, url string) (state.Place, *counting) {
	store, err := stores.Open(url)
	if err != nil {
		tb.Fatal(err)
	}
	s := &counting{Store: store}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	dir := tb.TempDir()
	return &state.Remote{URL: url, Machine: "m", Pending: filepath.Join(dir, "pending"),
		Claims:  sharedlog.Presence(filepath.Join(dir, "claims")),
		Connect: func() (*sharedlog.Log, error) { return sharedlog.New(s, sharedlog.DefaultTiming()), nil }}, s
}

// Who waits for a record shares its way to the store with all others who wait: many
// resources are few objects. With 25 ms to the store a thousand are at most 200, and not
// 3,000 one after the other, which would take 75 seconds.
func TestApply_SharesTheWayToTheStore(t *testing.T) {
	const n = 1000
	for name, value := range services.Credentials() {
		t.Setenv(name, value)
	}
	for name, server := range map[string]func() (url string){
		"PostgreSQL": func() string { return "postgres://deploy@" + services.Postgres(t) + "/state?sslmode=disable" },
		"S3": func() string {
			p := services.NewProxy(t, services.S3(t))
			p.Delay(25 * time.Millisecond)
			return "s3://state/p?region=eu-central-1&path_style=true&endpoint=http://" + p.Address
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, n)
			place, store := remoteState(t, server())
			e.place = place
			m := e.load(t, e.sources)
			s := e.open(t)
			p := e.plan(t, m, s.Snapshot())
			begun := time.Now()
			journal, _ := e.runWith(t, p, m, s, apply.Options{Parallelism: 80, Now: time.Now})
			took := time.Since(begun)
			finish(t, journal, s)
			t.Logf("%d resources: %d objects, %s", n, store.created.Load(), took.Round(time.Millisecond))
			if store.created.Load() > 200 && name == "S3" {
				t.Errorf("%d objects were created for %d resources", store.created.Load(), n)
			}
			if got, _, err := state.Load(place); err != nil || len(got.Resources) != n {
				t.Errorf("%d resources are in the state: %v", len(got.Resources), err)
			}
		})
	}
}
