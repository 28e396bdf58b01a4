// Package hidden says which values of configs and states must never be shown: what
// manifests mark, what the schemas of types do, and where these values come back. What
// comes in are documents; what goes out are JSON pointers into them, or the values.
package hidden
