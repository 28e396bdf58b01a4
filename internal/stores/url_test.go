package stores_test

import (
	"strings"
	"testing"

	"deployster/internal/stores"
)

func TestCheck_URLs(t *testing.T) {
	for name, c := range map[string]struct{ url, wrong string }{
		"a directory":          {"dir:///mnt/nfs/shop", ""},
		"a bucket":             {"s3://acme-state/shop?region=eu-central-1", ""},
		"a bucket elsewhere":   {"s3://b/p?endpoint=http://127.0.0.1:9000&path_style=true", ""},
		"a database":           {"postgres://deploy@db.example/state?sslmode=verify-full&name=shop", ""},
		"a socket":             {"postgres://deploy@/state?host=/run/postgresql", ""},
		"a relative directory": {"dir://shop", "absolute path"},
		"the root":             {"dir:///", "absolute path"},
		"another scheme":       {"http://example.org/state", "there are s3://"},
		"a password":           {"postgres://deploy:hunter2@db/state", "PGPASSWORD"},
		"a hidden password":    {"postgres://deploy@db/state?password=hunter2", "PGPASSWORD"},
		"a key of AWS":         {"s3://AKIA:hunter2@bucket/p", "password"},
		"the key's password":   {"postgres://deploy@db/state?sslpassword=hunter2", "PGSSLPASSWORD"},
		"another case":         {"postgres://deploy@db/state?Password=hunter2", "PGPASSWORD"},
		"a query of two kinds": {"postgres://deploy@db/state?a=b;password=hunter2", "cannot be read"},
		"a parameter of AWS":   {"s3://b/p?secret_access_key=hunter2", "parameters"},
		"a key for a server":   {"s3://b/p?endpoint=https://k:hunter2@minio", "endpoint"},
		"no bucket":            {"s3:///p", "BUCKET"},
		"nor a good endpoint":  {"s3:///p?endpoint=https://k:hunter2@minio", "BUCKET"},
		"a mistyped parameter": {"s3://b/p?regoin=x", "parameters"},
		"a wrong endpoint":     {"s3://b/p?endpoint=localhost", "endpoint"},
		"no URL":               {"postgres://%zz", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			err := stores.Check(c.url)
			switch {
			case c.wrong == "" && err != nil:
				t.Error(err)
			case c.wrong == "":
			case err == nil || !strings.Contains(err.Error(), c.wrong):
				t.Errorf("%v, want %q", err, c.wrong)
			case strings.Contains(err.Error(), "hunter2"):
				t.Errorf("the password is shown: %v", err)
			}
		})
	}
}

func TestOpen_SaysThatItsProgramIsMissing(t *testing.T) {
	if _, err := stores.Open("s3://bucket/p", t.TempDir()); err == nil || !strings.Contains(err.Error(), "deployster-store") {
		t.Errorf("%v", err)
	}
}
