// Package standalone has the commands that neither query nor change anything real: new, version, migrate and test.
// Values from flags come in; text or JSON for people and programs goes out, and files into
// the directory that the user names. It starts no containers.
package standalone
