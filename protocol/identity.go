package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The tag deployster:"identity" marks the fields of a config whose values,
// together, name the thing: a config with another value there is about another
// thing, and one that differs elsewhere is about the same.
//
// The tag deployster:"computed" marks a field that somebody else decides where the
// user says nothing: left out, it may be anything.
const (
	toolTag     = "deployster"
	identityTag = "identity"
	computedTag = "computed"
)

// maxIdentity is how many values may name a thing together.
const maxIdentity = 8

// identityOf returns the JSON pointers to the fields that name the thing, in their
// order. It is an error when a marked field is a secret, may be missing, or is
// in a list, in a map or behind a pointer that may be nil.
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
		return nil, nil // it holds itself: SchemaOf says so
	}
	open = append(open, t)
	for _, f := range fieldsOf(t) {
		pointer := at + "/" + escape(f.name)
		mark := f.tag.Get(toolTag)
		switch {
		case mark == identityTag && f.tag.Get("writeOnly") == "true":
			return nil, fmt.Errorf("%s: a secret cannot name the thing", pointer)
		case mark == identityTag && (f.optional || f.typ.Kind() == reflect.Pointer) && f.tag.Get("default") == "":
			return nil, fmt.Errorf("%s: what names the thing must be required or have a default", pointer)
		case mark == identityTag:
			pointers = append(pointers, pointer)
			continue
		case mark == computedTag && !f.optional && f.typ.Kind() != reflect.Pointer:
			return nil, fmt.Errorf("%s: only what may be left out can be %s", pointer, computedTag)
		case mark != "" && mark != computedTag:
			return nil, fmt.Errorf("%s: the tag %s is %q, and must be %q or %q", pointer, toolTag, mark, identityTag, computedTag)
		}
		inner, err := identityIn(structOf(f.typ), pointer, open)
		switch {
		case err != nil:
			return nil, err
		case len(inner) > 0 && (f.typ.Kind() != reflect.Struct || f.optional):
			return nil, fmt.Errorf("%s: what names the thing must always have a value, and %s may be missing or be many", inner[0], pointer)
		}
		pointers = append(pointers, inner...)
	}
	return pointers, nil
}

// noFields is the struct in which nothing is marked.
var noFields = reflect.TypeFor[struct{}]()

// structOf returns the struct that is in a field: itself, behind a pointer or in a list or map.
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

// escape returns the name of a member as JSON pointers have it.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
