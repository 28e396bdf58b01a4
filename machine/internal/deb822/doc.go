// Package deb822 reads files of stanzas with fields, as apt has for its sources. A text comes in;
// a map of fields for each stanza goes out. It also writes values of several lines.
package deb822
