// Package e2e tests the program from end to end: the real command, real
// containers and the files that people read. It owns the scripts in
// testdata/script, the hostile images, the kills, the checks of everything that
// is printed or recorded against the published schemas, and the tests of the
// documentation. It imports cli and containerd so that its test binary is the
// command, the embedded containerd and the shim; nothing imports it.
//
// The start of containers is a third of the suite. These keep it cheap, and must stay:
//
//   - Types whose containers are not the subject declare "reuse": true, and idle containers are
//     kept (DEPLOYSTER_KEEP=6s): half the time of a script.
//   - The type thing makes with one action ("thing NAME polish" has two), reads with its shell, not
//     with cat, and is a worker ("thing NAME worker") where containers are not the subject.
//   - Hosts in scripts have an empty home, as a .bashrc runs at each login.
package e2e
