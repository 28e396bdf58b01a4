// Package schema derives JSON Schemas from Go structs and their tags, and lists the members
// of the objects that structs become. Types come in; keywords and members go out.
package schema
