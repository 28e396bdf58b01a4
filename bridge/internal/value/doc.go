// Package value converts values between JSON, cty and msgpack. Configs as people write
// them come in; values of the types in a provider's schema go out, and back.
package value
