package stores_test

import (
	"strings"
	"testing"

	"deployster/internal/runtime/stores"
)

func TestCheck_URLs(t *testing.T) {
	for name, c := range map[string]struct{ url, wrong string }{
		"a directory":          {"dir:///mnt/nfs/shop", ""},
		"a bucket":             {"s3://acme-state/shop?region=eu-central-1", ""},
		"a bucket elsewhere":   {"s3://b-c/p?endpoint=http://127.0.0.1:9000&path_style=true", ""},
		"a database":           {"postgres://deploy@db.example/state?sslmode=verify-full&name=shop", ""},
		"a socket":             {"postgres://deploy@/state?host=/run/postgresql", ""},
		"a relative directory": {"dir://shop", "absolute path"},
		"the root":             {"dir:///", "absolute path"},
		"another scheme":       {"http://example.org/state", "it must begin with s3://"},
		"a password":           {"postgres://deploy:hunter2@db/state", "PGPASSWORD"},
		"a hidden password":    {"postgres://deploy@db/state?password=hunter2", "PGPASSWORD"},
		"a key of AWS":         {"s3://AKIA:hunter2@bucket/p", "password"},
		"the key's password":   {"postgres://deploy@db/state?sslpassword=hunter2", "PGSSLPASSWORD"},
		"another case":         {"postgres://deploy@db/state?Password=hunter2", "PGPASSWORD"},
		"a query of two kinds": {"postgres://deploy@db/state?a=b;password=hunter2", "cannot be read"},
		"a parameter of AWS":   {"s3://bucket/p?secret_access_key=hunter2", "parameters"},
		"a key for a server":   {"s3://bucket/p?endpoint=https://k:hunter2@minio", "endpoint"},
		"no bucket":            {"s3:///p", "BUCKET"},
		"nor a good endpoint":  {"s3:///p?endpoint=https://k:hunter2@minio", "BUCKET"},
		"a short bucket":       {"s3://ab/p", "2 characters"},
		"a long bucket":        {"s3://" + strings.Repeat("b", 64) + "/p", "64 characters"},
		"the longest bucket":   {"s3://" + strings.Repeat("b", 63) + "/p", ""},
		"a dotted bucket":      {"s3://acme.state/p", ""},
		"capitals":             {"s3://Acme-State/p", "path_style"},
		"an old bucket":        {"s3://Acme_State/p?path_style=true", ""},
		"an underscore":        {"s3://acme_state/p", "small letters"},
		"a wide letter":        {"s3://acmé/p?path_style=true", "letters, digits"},
		"a hyphen at the end":  {"s3://acme-/p", "ends with"},
		"a hyphen at first":    {"s3://-acme/p?path_style=true", "begins"},
		"two dots":             {"s3://acme..state/p", "a dot"},
		"a dot by a hyphen":    {"s3://acme.-state/p", "a dot"},
		"an address":           {"s3://192.168.5.4/p", "IP address"},
		"a service":            {"s3://minio:9000/p", "endpoint=https://minio:9000"},
		"a long prefix":        {"s3://acme/" + strings.Repeat("p", 1024), "prefix"},
		"a mistyped parameter": {"s3://bucket/p?regoin=x", "parameters"},
		"a wrong endpoint":     {"s3://bucket/p?endpoint=localhost", "endpoint"},
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

// A file that the URL of a PostgreSQL names, and that is not there, is reported with its name.
func TestOpen_NamesAMissingFile(t *testing.T) {
	t.Parallel()
	s, err := stores.Open("postgres://shop@pg.example/state?sslmode=verify-full&sslrootcert=absent.crt&name=shop")
	if s != nil || err == nil || !strings.Contains(err.Error(), "absent.crt: no such file") || !strings.Contains(err.Error(), "relative to the directory") {
		t.Errorf("got %v, %v", s, err)
	}
}
