package stores

import (
	"cmp"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/stores/dir"
	"deployster/internal/runtime/stores/postgres"
	"deployster/internal/runtime/stores/s3"
)

// IsURL reports whether a text is a URL, and not the path of a file.
func IsURL(text string) bool { return strings.Contains(text, "://") }

// Open returns the store that a URL names. The store connects when it is first used.
func Open(text string) (sharedlog.Store, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "dir":
		return dir.New(u.Path), nil
	case "s3":
		return openS3(u)
	}
	q := u.Query()
	name := cmp.Or(q.Get("name"), "default")
	q.Del("name")
	u.RawQuery = q.Encode()
	store, err := postgres.New(strings.Replace(u.String(), "postgresql://", "postgres://", 1), name)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), "`: ")
		return nil, diag.Because(sharedlog.ErrDenied, "The connection to PostgreSQL cannot be set up",
			"%s: %s. The files that it names are relative to the directory of this command.", diag.Visible(text), cmp.Or(why, err.Error()))
	}
	return store, nil
}

func openS3(u *url.URL) (sharedlog.Store, error) {
	q := u.Query()
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

// Check returns an error if the URL of a state is not valid.
func Check(text string) error {
	u, err := url.Parse(text)
	if diag.Is[*url.Error](err) {
		scheme, _, _ := strings.Cut(text, "://") // the rest may hold a password
		return refuse(scheme+"://...", "it cannot be read as a URL")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return refuse(u.Scheme+"://...", "what follows its ? cannot be read: parameters are NAME=VALUE with & between them")
	}
	if by := passwordBy(u, query); by != "" {
		return refuse(u.Scheme+"://...", "it has a password in it, and would be shown and recorded with it. Set it by "+by)
	}
	if u.Fragment != "" || u.Opaque != "" {
		return refuse(text, "nothing may follow a #, and two slashes follow the scheme")
	}
	switch u.Scheme {
	case "dir":
		if u.RawQuery != "" || u.Host != "" || u.User != nil || !filepath.IsAbs(u.Path) || u.String() != "dir://"+filepath.Clean(u.Path) ||
			u.Path == "/" {
			return refuse(text, "it is dir:// and an absolute path of plain letters, as dir:///mnt/nfs/shop")
		}
		return nil
	case "postgres", "postgresql":
		return nil
	case "s3":
		return checkS3(text, u)
	}
	return refuse(text, "it must begin with s3://, postgres:// or dir://")
}

// passwordBy returns where else to give the password that a URL contains; "" = it contains
// none. Servers may ignore the case of a parameter's name, so passwordBy ignores it too.
func passwordBy(u *url.URL, query url.Values) string {
	_, has := u.User.Password()
	for name := range query {
		if strings.EqualFold(name, "sslpassword") {
			return "PGSSLPASSWORD"
		}
		has = has || strings.EqualFold(name, "password")
	}
	switch {
	case !has:
		return ""
	case u.Scheme == "s3":
		return "the variables or files of AWS"
	}
	return "PGPASSWORD or ~/.pgpass"
}

func refuse(text, why string) error {
	return diag.Because(sharedlog.ErrDenied, "Not the URL of a state", "%s: %s.", diag.Visible(text), why)
}

func checkS3(text string, u *url.URL) error {
	q := u.Query()
	known := []string{"region", "endpoint", "path_style", "profile"}
	for name, values := range q {
		if !slices.Contains(known, name) || len(values) > 1 {
			// The value is not shown: it may be a key.
			return refuse("s3://"+u.Host+u.Path+"?"+name+"=...", "its parameters are, once each: "+strings.Join(known, ", "))
		}
	}
	if u.User != nil {
		return refuse("s3://...", "it names a user. Credentials are given by the variables or files of AWS")
	}
	if u.Host == "" {
		return refuse("s3://"+u.Host+u.Path, "it is s3://BUCKET/PREFIX") // its parameters may hold a password
	}
	if why := wrongBucket(u.Host, q.Get("endpoint") != "" || q.Get("path_style") == "true"); why != "" {
		return refuse("s3://"+u.Host+u.Path, "the name of the bucket is not valid: "+why)
	}
	if len(u.Path) > maxPrefix {
		return refuse("s3://"+u.Host+u.Path, "its prefix is longer than "+strconv.Itoa(maxPrefix)+" bytes")
	}
	if endpoint := q.Get("endpoint"); endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Scheme != "https" && e.Scheme != "http" || e.Host == "" || e.User != nil || strings.Trim(e.Path, "/") != "" {
			// The endpoint is not shown: it may contain a password.
			return refuse("s3://"+u.Host+u.Path+"?endpoint=...", "its endpoint must be https:// or http://, a host and an optional port")
		}
	}
	if style := q.Get("path_style"); style != "" && style != "true" && style != "false" {
		return refuse(text, "path_style must be true or false")
	}
	return nil
}

// maxPrefix leaves room for the names of objects below a prefix: the key of an object has
// 1,024 bytes at most.
const maxPrefix = 800

// The names of buckets. What is not in the name of a host, such as capitals, is possible
// for other services than that of AWS, and for its oldest buckets.
var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*[a-z0-9]$`)
	laxName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$`)
)

// wrongBucket returns why no bucket can have a name, "" if one can. inPath: the name is in
// the path of requests, and not in the name of their host.
func wrongBucket(name string, inPath bool) string {
	_, notAddress := netip.ParseAddr(name)
	switch bucket, port, found := strings.Cut(name, ":"); {
	case found:
		return "it has a colon. If " + diag.Visible(bucket) + " is a service at the port " + diag.Visible(port) +
			", write s3://BUCKET/PREFIX?endpoint=https://" + name
	case len(name) < 3 || len(name) > 63:
		return "it has " + strconv.Itoa(len(name)) + " characters, and not 3 to 63"
	case notAddress == nil:
		return "it is an IP address. A service is given with endpoint=https://" + name
	case strings.Contains(name, "..") || strings.Contains(name, ".-") || strings.Contains(name, "-."):
		return "a dot stands between letters or digits"
	case inPath && !laxName.MatchString(name):
		return "it has letters, digits, dots, hyphens and underscores, and begins and ends with a letter or a digit"
	case !inPath && !bucketName.MatchString(name):
		return "it has small letters, digits, dots and hyphens, and begins and ends with a letter or a digit. An old bucket with " +
			"capitals or underscores needs path_style=true"
	}
	return ""
}
