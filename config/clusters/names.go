package clusters

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
)

// They are made when they are needed: most manifests have no cluster.
var (
	labelForm     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`) })
	subdomainForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	})
	nameForm   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`) })
	agentForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^@]+@sha256:[0-9a-f]{64}$`) })
	prefixForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]*[A-Za-z0-9]$`) })
)

// Namespace returns an error for text that cannot be the name of a namespace.
func Namespace(text string) error {
	if len(text) > 63 || !labelForm().MatchString(text) {
		return fmt.Errorf("%q is not the name of a namespace: at most 63 lower-case letters, digits and dashes", text)
	}
	return nil
}

// Name returns an error for text that cannot be the name of an object of a cluster.
func Name(text string) error {
	if len(text) > 253 || !subdomainForm().MatchString(text) {
		return fmt.Errorf("%q is not a name in a cluster: lower-case letters, digits, dashes and dots", text)
	}
	return nil
}

// Names decodes a list of names of objects of a cluster.
func Names(list cty.Value) (names []string, err error) {
	for _, v := range list.AsValueSlice() {
		if v.IsNull() {
			return nil, errors.New("null is not a name")
		}
		if err := Name(v.AsString()); err != nil {
			return nil, err
		}
		names = append(names, v.AsString())
	}
	return names, nil
}

// Context returns an error for text that cannot be the name of a context of a kubeconfig.
func Context(text string) error {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is not the name of a context: `kubectl config get-contexts` lists them", text)
	}
	return nil
}

// Registry returns an error for a pair of repositories that cannot replace each other.
func Registry(from, to string) error {
	for _, text := range []string{from, to} {
		if strings.Contains(text, "://") || !prefixForm().MatchString(text) {
			return fmt.Errorf("%q is not the beginning of a repository: write REGISTRY or REGISTRY/PATH, without a scheme, tag or "+
				"digest", text)
		}
	}
	return nil
}

// Label returns an error for a label of a cluster.
func Label(key, value string) error {
	if err := Key(key); err != nil {
		return err
	}
	if value != "" && (len(value) > 63 || !nameForm().MatchString(value)) {
		return fmt.Errorf("%q is not the value of a label: at most 63 letters, digits, dashes, dots and underscores", value)
	}
	return nil
}

// Key returns an error for text that cannot be the key of a label or annotation.
func Key(key string) error {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		prefix, name = "", key
	}
	if len(name) > 63 || !nameForm().MatchString(name) || found && Name(prefix) != nil {
		return fmt.Errorf("%q is not a key of a label: NAME or DOMAIN/NAME, with a name of at most 63 letters, digits, dashes, dots and "+
			"underscores", key)
	}
	return nil
}

// NotOwn refuses the keys that deployster sets itself.
func NotOwn(check func(key, value string) error) func(key, value string) error {
	return func(key, value string) error {
		prefix, _, _ := strings.Cut(key, "/")
		if prefix == "deployster.io" || strings.HasSuffix(prefix, ".deployster.io") || key == "app.kubernetes.io/managed-by" {
			return fmt.Errorf("%q is set by deployster: omit it", key)
		}
		return check(key, value)
	}
}

// Texts decodes a map of texts, each pair checked.
func Texts(v cty.Value, check func(key, value string) error) (map[string]string, error) {
	texts := map[string]string{}
	for it := v.ElementIterator(); it.Next(); { // in the order of the keys
		key, value := it.Element()
		if value.IsNull() {
			return nil, fmt.Errorf("the value of %q is null: omit it", key.AsString())
		}
		if err := check(key.AsString(), value.AsString()); err != nil {
			return nil, err
		}
		texts[key.AsString()] = value.AsString()
	}
	return texts, nil
}

// Digested returns an error for an image that is not fixed by its digest.
func Digested(text string) error {
	if !agentForm().MatchString(text) {
		return fmt.Errorf("%q has no digest: write REPOSITORY@sha256:DIGEST, as `deployster image push-agent` prints it", text)
	}
	return nil
}
