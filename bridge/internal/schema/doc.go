// Package schema owns what a provider says of its values. In come the schemas of
// protocol 5 or 6; out go blocks and attributes with their types, and JSON Schemas of
// configs and states.
package schema
