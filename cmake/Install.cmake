# Install and find_package(jari).
