// Package hidden says which values of configs and states must never be shown: those that
// manifests or schemas of types mark, and copies of these values elsewhere. It takes
// documents, and returns JSON pointers into them, or the values.
package hidden
