package program

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/stores"
	"deployster/internal/runtime/stores/pipe"
	"deployster/internal/runtime/stores/postgres"
	"deployster/internal/runtime/stores/s3"
)

// Main serves the store that the URL in the arguments names, and returns the exit code.
func Main(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "deployster starts this program by itself, with the URL of a state")
		return pipe.Refused
	}
	s, err := open(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return pipe.Refused
	}
	if err := pipe.Serve(s, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// open returns the store of a URL that passes stores.Check.
func open(text string) (sharedlog.Store, error) {
	if err := stores.Check(text); err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	if u.Scheme == "s3" {
		o := s3.Options{Bucket: u.Host, Prefix: u.Path, Region: q.Get("region"), Profile: q.Get("profile"),
			PathStyle: q.Get("path_style") == "true"}
		if endpoint := q.Get("endpoint"); endpoint != "" {
			e, err := url.Parse(endpoint)
			if err != nil {
				return nil, err
			}
			o.Endpoint, o.Insecure = e.Host, e.Scheme == "http"
		}
		return s3.New(o)
	}
	name := q.Get("name")
	if name == "" {
		name = "default"
	}
	q.Del("name")
	u.RawQuery = q.Encode()
	return postgres.New(strings.Replace(u.String(), "postgresql://", "postgres://", 1), name)
}
