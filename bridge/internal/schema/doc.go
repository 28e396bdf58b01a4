// Package schema represents the schemas of a provider. The schemas of protocol 5 or 6
// come in; blocks and attributes with their types, and JSON Schemas of configs and
// states, go out.
package schema
