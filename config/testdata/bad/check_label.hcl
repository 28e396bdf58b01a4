check {
}
# error 1:7 Missing name for check
