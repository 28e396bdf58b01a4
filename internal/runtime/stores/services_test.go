package stores_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
	"deployster/internal/base/sharedlog/storetest"
	"deployster/internal/runtime/stores"
	"deployster/internal/testkit/services"
)

// servers are the services, each by a URL and through a proxy.
func servers(t *testing.T) map[string]func(*testing.T) (url string, proxy *services.Proxy) {
	for name, value := range services.Credentials() {
		t.Setenv(name, value)
	}
	return map[string]func(*testing.T) (string, *services.Proxy){
		"PostgreSQL": func(t *testing.T) (string, *services.Proxy) {
			p := services.NewProxy(t, services.Postgres(t))
			return "postgres://deploy@" + p.Address + "/state?sslmode=disable&name=shop", p
		},
		"S3": func(t *testing.T) (string, *services.Proxy) {
			p := services.NewProxy(t, services.S3(t))
			return "s3://state/team/shop?region=eu-central-1&path_style=true&endpoint=http://" + p.Address, p
		},
	}
}

// connect returns the store of a URL.
func connect(t *testing.T, url string) sharedlog.Store {
	t.Helper()
	s, err := stores.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStores_KeepTheContract(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			url, _ := server(t)
			storetest.Suite(t, storetest.Times(t, "DEPLOYSTER_STORE_RACES"), func(t *testing.T) sharedlog.Store { return connect(t, url) })
		})
	}
}

// A request may be carried out and its answer lost.
func TestStores_AnswersAreLost(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			url, proxy := server(t)
			s, direct := connect(t, url), connect(t, strings.Replace(url, proxy.Address, proxy.To, 1))
			if err := s.Create(t.Context(), "log/1", []byte("first")); err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				key, data := fmt.Sprintf("log/%d", n+2), fmt.Appendf(nil, "entry %d", n)
				proxy.Deafen(true)
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					awaitKey(t, direct, key)
					cancel()
				}()
				err := s.Create(ctx, key, data)
				cancel()
				if err == nil || errors.Is(err, sharedlog.ErrExists) || errors.Is(err, sharedlog.ErrDenied) {
					t.Fatalf("without an answer it says %v", err)
				}
				proxy.Cut()
				proxy.Deafen(false)
				if err := s.Create(t.Context(), key, []byte("another")); !errors.Is(err, sharedlog.ErrExists) {
					t.Errorf("%s was created, and then it says %v", key, err)
				}
				if got, err := s.Get(t.Context(), key); err != nil || string(got) != string(data) {
					t.Errorf("%s holds %q: %v", key, got, err)
				}
			}
		})
	}
}

// awaitKey waits until a store has a key.
func awaitKey(t *testing.T, s sharedlog.Store, key string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := s.Get(t.Context(), key); err == nil {
			return
		}
	}
	t.Errorf("the request to create %s was not carried out", key)
}

// A store that is away is an error in the time that is left, and is used again when
// it is back.
func TestStores_NetworkDrops(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			url, proxy := server(t)
			s := connect(t, url)
			if err := s.Create(t.Context(), "log/0000000000000001", nil); err != nil {
				t.Fatal(err)
			}
			proxy.Silence(true)
			begun := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if _, err := s.List(ctx, "log/"); err == nil {
				t.Error("it lists what it cannot reach")
			}
			cancel()
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("the error came after %s", took)
			}
			proxy.Silence(false)
			proxy.Cut()
			l := sharedlog.New(s, sharedlog.DefaultTiming().Faster(10))
			if _, err := l.View(t.Context()); err == nil || !errors.Is(err, sharedlog.ErrDamaged) {
				t.Errorf("an object that is no entry gives %v", err)
			}
		})
	}
}

// What cannot be helped by trying again is said so.
func TestStores_Denied(t *testing.T) {
	list := servers(t)
	database, _ := list["PostgreSQL"](t)
	bucket, _ := list["S3"](t)
	for name, url := range map[string]string{
		"no such database":  strings.Replace(database, "/state?", "/nothing?", 1),
		"no such user":      strings.Replace(database, "deploy@", "somebody@", 1),
		"no such bucket":    strings.Replace(bucket, "s3://state/", "s3://nothing/", 1),
		"no such parameter": database + "&nonsense=%3d",
	} {
		t.Run(name, func(t *testing.T) {
			wantDenied(t, url)
		})
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	wantDenied(t, bucket)
}

// wantDenied creates an object where nobody may. A server that refuses ends the connection,
// and its answer may be lost while the request is still sent: who writes tries again.
func wantDenied(t *testing.T, url string) {
	t.Helper()
	store, err := connect(t, url), error(nil)
	for range 5 {
		if err = store.Create(t.Context(), "log/1", nil); errors.Is(err, sharedlog.ErrDenied) {
			return
		}
	}
	t.Errorf("it says %v", err)
}

// Rights to make the table may be missing: then the SQL is told.
func TestPostgres_ReportsTheSQL(t *testing.T) {
	admin := services.Postgres(t)
	host, port, _ := strings.Cut(admin, ":")
	c := exec.Command("psql", "-h", host, "-p", port, "-U", "deploy", "state")
	c.Stdin = strings.NewReader("create role poor login; revoke create on schema public from public;")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := connect(t, "postgres://poor@"+admin+"/state?sslmode=disable")
	if keys, err := s.List(t.Context(), "log/"); err != nil || len(keys) > 0 {
		t.Errorf("without a table it lists %q, %v", keys, err)
	}
	err := s.Create(t.Context(), "log/1", nil)
	if !errors.Is(err, sharedlog.ErrDenied) || !strings.Contains(err.Error(), "create table") || !strings.Contains(err.Error(), `"poor"`) {
		t.Errorf("it says %v", err)
	}
}
