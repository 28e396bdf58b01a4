locals "a" {
}
# error 1:8 Extraneous label for locals
