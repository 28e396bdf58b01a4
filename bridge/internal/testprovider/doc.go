// Package testprovider owns a Terraform provider for tests, of the protocols 5 and 6. Its
// kinds are every shape of a value crossed with every flag that an attribute may have. In
// come calls; out go answers that follow from them alone, and a line for each request in
// the file that TEST_RECORD names.
package testprovider
