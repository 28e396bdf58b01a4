package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"deployster/protocol/internal/schema"
)

// The tag deployster:"identity" marks the fields of a config whose values together
// identify the object: a config with another value there describes another object, and
// one that differs elsewhere describes the same object.
//
// The tag deployster:"computed" marks an optional field whose value something else
// decides if the user leaves it out: it may then have any value.
const (
	toolTag     = "deployster"
	identityTag = "identity"
	computedTag = "computed"
)

// maxIdentity is how many fields may form an identity.
const maxIdentity = 8

// identityOf returns the JSON pointers to the fields of the identity, in their order.
// It returns an error if a marked field is a secret, may be missing, or is in a list,
// in a map or behind a pointer that may be nil.
func identityOf(config reflect.Type) ([]string, error) {
	if config.Kind() != reflect.Struct {
		return nil, nil
	}
	pointers, err := identityIn(config, "", nil)
	if err == nil && len(pointers) > maxIdentity {
		err = fmt.Errorf("%d fields are marked as its identity, and may be %d at most", len(pointers), maxIdentity)
	}
	return pointers, err
}

func identityIn(t reflect.Type, at string, open []reflect.Type) (pointers []string, err error) {
	if slices.Contains(open, t) {
		return nil, nil // it contains itself: SchemaOf reports that
	}
	open = append(open, t)
	for _, f := range schema.Fields(t) {
		pointer := at + "/" + escape(f.Name)
		mark := f.Tag.Get(toolTag)
		switch {
		case mark == identityTag && f.Tag.Get("writeOnly") == "true":
			return nil, fmt.Errorf("%s: a secret cannot be an identity", pointer)
		case mark == identityTag && (f.Optional || f.Type.Kind() == reflect.Pointer) && f.Tag.Get("default") == "":
			return nil, fmt.Errorf("%s: an identity must be required or have a default", pointer)
		case mark == identityTag:
			pointers = append(pointers, pointer)
			continue
		case mark == computedTag && !f.Optional && f.Type.Kind() != reflect.Pointer:
			return nil, fmt.Errorf("%s: only an optional field can be %s", pointer, computedTag)
		case mark != "" && mark != computedTag:
			return nil, fmt.Errorf("%s: the tag %s is %q, and must be %q or %q", pointer, toolTag, mark, identityTag, computedTag)
		}
		inner, err := identityIn(structOf(f.Type), pointer, open)
		switch {
		case err != nil:
			return nil, err
		case len(inner) > 0 && (f.Type.Kind() != reflect.Struct || f.Optional):
			return nil, fmt.Errorf("%s: an identity must always have a value, and %s may be missing or be many", inner[0], pointer)
		}
		pointers = append(pointers, inner...)
	}
	return pointers, nil
}

// noFields is a struct without marked fields.
var noFields = reflect.TypeFor[struct{}]()

// structOf returns the struct in a field: its type itself, or the struct behind pointers, lists and maps.
func structOf(t reflect.Type) reflect.Type {
	for {
		switch t.Kind() {
		case reflect.Struct:
			return t
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return noFields
		}
	}
}

// unescape is the reverse of escape.
func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// escape returns the name of a member as a token of a JSON pointer.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
