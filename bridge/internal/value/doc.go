// Package value owns the ways of values between JSON, cty and msgpack. In come configs as
// people write them; out go values of the types that a provider's schema has, and back.
package value
