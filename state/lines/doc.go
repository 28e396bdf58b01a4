// Package lines is the form of a journal's records: each is a line with the CRC-32C of its
// JSON in eight hex digits, a space, and the JSON. It takes and returns bytes, and knows of
// the content only the keys by which a torn tail is distinguished from damage.
package lines
