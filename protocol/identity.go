package protocol

import (
	"fmt"
	"reflect"
	"slices"

	"deployster/protocol/internal/jsonvalue"
	"deployster/protocol/internal/schema"
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
		pointer := at + "/" + jsonvalue.Escape(f.Name)
		mark := f.Tag.Get(schema.ToolTag)
		switch {
		case mark == schema.IdentityTag && f.Tag.Get("writeOnly") == "true":
			return nil, fmt.Errorf("%s: a secret cannot be an identity", pointer)
		case mark == schema.IdentityTag && (f.Optional || f.Type.Kind() == reflect.Pointer) && f.Tag.Get("default") == "":
			return nil, fmt.Errorf("%s: an identity must be required or have a default", pointer)
		case mark == schema.IdentityTag:
			pointers = append(pointers, pointer)
			continue
		case mark == schema.ComputedTag && !f.Optional && f.Type.Kind() != reflect.Pointer:
			return nil, fmt.Errorf("%s: only an optional field can be %s", pointer, schema.ComputedTag)
		case mark != "" && mark != schema.ComputedTag:
			return nil, fmt.Errorf("%s: the tag %s is %q, and must be %q or %q", pointer, schema.ToolTag, mark,
				schema.IdentityTag, schema.ComputedTag)
		}
		inner, err := identityIn(schema.StructOf(f.Type), pointer, open)
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
