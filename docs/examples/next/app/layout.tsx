import type { ReactNode } from "react";

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body style={{ maxWidth: "42rem", margin: "2rem auto", padding: "0 1rem", fontFamily: "Georgia, serif", lineHeight: 1.6 }}>
        {children}
      </body>
    </html>
  );
}
