# error 4:11 too few

output "a" {
  value = join(",")
}
