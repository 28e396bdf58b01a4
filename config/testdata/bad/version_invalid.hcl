deployster {
  required_version = "new"
}
# error 2:22 Invalid version constraint
