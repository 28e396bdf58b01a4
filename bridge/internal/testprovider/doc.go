// Package testprovider is a Terraform provider for tests, for protocols 5 and 6. Its
// kinds combine every shape of a value with every flag of an attribute. Calls come in;
// answers that depend only on them go out, and a line for each request in the file that
// TEST_RECORD names.
package testprovider
