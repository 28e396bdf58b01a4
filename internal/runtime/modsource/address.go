package modsource

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

// The prefixes of sources that are not directories of this machine.
const (
	gitPrefix = "git::"
	ociPrefix = "oci://"
)

// Address is the source of a module that a registry or a repository of git has.
type Address struct {
	Image string // the full name of an image; "" = it is a repository
	URL   string // of a repository
	Ref   string // a branch, a tag or a commit; "" = the repository's default branch
	Dir   string // the module's directory in the package, with slashes; "" = its root
}

// Package returns the source without the directory: what is fetched and pinned as a whole.
func (a Address) Package() string {
	switch {
	case a.Image != "":
		return ociPrefix + a.Image
	case a.Ref != "":
		return gitPrefix + a.URL + "?ref=" + url.QueryEscape(a.Ref)
	}
	return gitPrefix + a.URL
}

// Commit returns the commit that the source itself names, "" if it names none.
func (a Address) Commit() string {
	if commitPattern.MatchString(a.Ref) {
		return a.Ref
	}
	return ""
}

// Is reports whether a source is intended for Parse.
func Is(text string) bool {
	return strings.HasPrefix(text, gitPrefix) || strings.HasPrefix(text, ociPrefix)
}

// Parse reads a source. An error reports why it is not valid, in a sentence.
func Parse(text string) (Address, error) {
	for _, r := range text {
		if r <= ' ' || r == 0x7f || r == '\\' {
			return Address{}, fmt.Errorf("%q has the character %q, which is not allowed in a source", text, r)
		}
	}
	if rest, is := strings.CutPrefix(text, ociPrefix); is {
		return image(text, rest)
	}
	if rest, is := strings.CutPrefix(text, gitPrefix); is {
		return repository(text, rest)
	}
	return Address{}, fmt.Errorf("%q begins neither with git:: nor with oci://", text)
}

// image reads the source of an image.
func image(text, rest string) (a Address, err error) {
	name, dir, hasDir := strings.Cut(rest, "//")
	if a.Dir, err = directory(text, dir, hasDir); err != nil {
		return Address{}, err
	}
	if strings.Contains(name, "#") || strings.Contains(name, "?") || imagestore.IsDigest(name) {
		return Address{}, fmt.Errorf("%q is not the name of an image: write oci://registry.example.com/acme/web:1.2, with the version "+
			"as its tag", text)
	}
	if a.Image, _, err = imagestore.FullName(name); err != nil {
		if d, is := errors.AsType[*diag.Diagnostic](err); is {
			return Address{}, errors.New(strings.TrimSuffix(d.Detail, "."))
		}
		return Address{}, err
	}
	if imagestore.Reserved(a.Image) {
		return Address{}, fmt.Errorf("%q names an image that comes with deployster, and not a module", text)
	}
	return a, nil
}

var (
	commitPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	refPattern    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@-]*$`)
)

// maxRef is the length of the longest name of a branch or a tag.
const maxRef = 250

// repository reads the source of a repository of git.
func repository(text, rest string) (a Address, err error) {
	scheme, after, ok := strings.Cut(rest, "://")
	if !ok {
		return a, fmt.Errorf("%q has no URL after git::. Write https://HOST/PATH, or ssh://USER@HOST/PATH for USER@HOST:PATH", text)
	}
	after, query, hasQuery := strings.Cut(after, "?")
	repo, dir, hasDir := strings.Cut(after, "//")
	if scheme == "file" && strings.HasPrefix(after, "//") {
		return a, fmt.Errorf("%q has no path: write git::file:///PATH", text)
	}
	if a.Dir, err = directory(text, dir, hasDir); err != nil {
		return Address{}, err
	}
	if a.Ref, err = ref(text, query, hasQuery); err != nil {
		return Address{}, err
	}
	a.URL = scheme + "://" + repo
	return a, location(text, a.URL)
}

// ref reads what follows the ? of a source.
func ref(text, query string, given bool) (string, error) {
	if !given {
		return "", nil
	}
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 1 || len(values["ref"]) != 1 {
		return "", fmt.Errorf("%q has more than ref=NAME after its ?. The name of a branch, a tag or a commit is all that can follow it; "+
			"the directory stands before it: //DIRECTORY?ref=NAME", text)
	}
	name := values.Get("ref")
	if len(name) > maxRef || !refPattern.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, "/") ||
		strings.HasSuffix(name, ".lock") {
		return "", fmt.Errorf("%q names the ref %q, which is not a branch, a tag or a commit of git", text, name)
	}
	return name, nil
}

// location returns an error if a URL is not one that git is given.
func location(text, location string) error {
	u, err := url.Parse(location)
	if err != nil {
		return fmt.Errorf("%q has no valid URL that follows its git:: prefix", text)
	}
	_, password := u.User.Password()
	switch {
	case u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" && u.Scheme != "file":
		return fmt.Errorf("%q has the scheme %s; https, http, ssh and file are possible", text, u.Scheme)
	case password:
		return fmt.Errorf("the source of a module has a password in it, which would be in every copy of the manifest. Configure it " +
			"in git (git credential approve), or use an ssh key")
	case u.Scheme == "file" && u.Host != "", u.Scheme != "file" && u.Hostname() == "":
		return fmt.Errorf("%q has no valid host: write git::https://HOST/PATH, or git::file:///PATH", text)
	case strings.HasPrefix(u.Host, "-"), strings.HasPrefix(u.User.Username(), "-"):
		return fmt.Errorf("%q has a host or a user that begins with -, which programs take for a flag", text)
	case u.Fragment != "" || len(u.Path) < 2:
		return fmt.Errorf("%q has no valid path of a repository", text)
	}
	for _, element := range strings.Split(u.Path, "/") {
		if element == ".." || element == "." {
			return fmt.Errorf("%q has the element %s in its path. Write the path without it", text, element)
		}
	}
	return nil
}

// directory checks what follows the // of a source.
func directory(text, dir string, given bool) (string, error) {
	dir = strings.TrimSuffix(dir, "/")
	if !given {
		return "", nil
	}
	if !fs.ValidPath(dir) || dir == "." {
		return "", fmt.Errorf("%q has no valid directory after //: it is the path of a directory in the package, without .. in it", text)
	}
	return dir, nil
}
