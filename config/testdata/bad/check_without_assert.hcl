check "c" {
}
# error 1:1 Nothing is checked
