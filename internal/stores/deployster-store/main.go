// Program deployster-store speaks with the services that keep shared states, for the
// deployster that lies beside it: it serves the store that a URL names on its standard
// streams, and ends with its client. The libraries of the services are here, because
// they would have every command start later, and be as large as all the rest together.
package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"deployster/internal/sharedlog"
	"deployster/internal/stores"
	"deployster/internal/stores/pipe"
	"deployster/internal/stores/postgres"
	"deployster/internal/stores/s3"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "deployster starts this program by itself, with the URL of a state")
		os.Exit(pipe.Refused)
	}
	s, err := open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(pipe.Refused)
	}
	if err := pipe.Serve(s, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// open returns the store of a URL that stores.Check has found right.
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
