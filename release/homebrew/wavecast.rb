# SHA256 is the checksum of the source archive of the release.
class Wavecast < Formula
  desc "Predicts memory traffic and speed of GPU kernels without a GPU"
  homepage "https://docs.rs/wavecast"
  url "https://static.crates.io/crates/wavecast/wavecast-0.2.0.crate"
  sha256 "SHA256"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "tar", "-xf", "wavecast-#{version}.crate", "--strip-components=1" if File.exist?("wavecast-#{version}.crate")
    system "cargo", "install", *std_cargo_args, "--no-default-features", "--features", "cli,fit"
    generate_completions_from_executable(bin/"wavecast", "completions")
  end

  test do
    system bin/"wavecast", "new", "scale"
    assert_match "candidates", shell_output("#{bin}/wavecast rank scale.yaml -d a100 --top 1")
  end
end
