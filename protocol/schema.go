package protocol

import (
	"encoding/json"
	"reflect"

	"deployster/protocol/internal/jsonvalue"
	"deployster/protocol/internal/schema"
)

// SchemaOf returns the JSON Schema of a config, derived from the fields of a struct.
// The names are those of encoding/json, other properties are not allowed. A field
// is required unless it is a pointer, has omitempty or omitzero, or a default.
// Tags add constraints:
//
//	doc:"what it is for"
//	default:"text or JSON"     filled in by Serve if the user omits it; of fields and fields of structs in them
//	enum:"small,large"
//	pattern:"^[a-z]+$"  format:"ipv4"  minLength:"1"  maxLength:"63"
//	minimum:"1"  maximum:"65535"
//	minItems:"1"  maxItems:"8"
//	writeOnly:"true"           a secret: deployster never shows it
//	deployster:"identity"      part of the identity: with another value, the config describes another object
//	deployster:"computed"      left out, it may have any value; other fields that are left out must be unset
//
// On a list, the tags from enum to maximum apply to its items. SchemaOf returns an
// error if a field has a type without JSON, or a tag that does not fit its type.
func SchemaOf[C any]() (json.RawMessage, error) {
	return schemaOf(reflect.TypeFor[C](), false)
}

// stateSchemaOf returns the schema of what encoding/json writes for an S, where nil
// lists and maps are null.
func stateSchemaOf[S any]() (json.RawMessage, error) {
	return schemaOf(reflect.TypeFor[S](), true)
}

func schemaOf(t reflect.Type, written bool) (json.RawMessage, error) {
	s, err := schema.Of(t, written)
	if err != nil {
		return nil, err
	}
	return jsonvalue.Encode(s)
}
